"""Signing in, where ADDEND_SIGN_IN asks for it: Streamlit's own OpenID Connect, set up in .streamlit/secrets.toml."""

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from analysis.core import settings
from analysis.core.errors import SettingError


def require_sign_in() -> None:
    """Stops the page for those who have to sign in first, and offers them to.

    Raises SettingError where sign-in is required and not set up.
    """
    if not settings.switch("ADDEND_SIGN_IN"):
        return
    if not _is_set_up():
        raise SettingError(
            "ADDEND_SIGN_IN is 1 and .streamlit/secrets.toml has no [auth] section. Add one (see "
            "dashboard/hosting/README.md), or set ADDEND_SIGN_IN=0."
        )
    if st.user.get("is_logged_in"):
        st.sidebar.button("Sign out", icon=":material/logout:", on_click=st.logout)
        return
    st.title("Addend", anchor=False)
    st.markdown(
        "Sign in to use this server. Signing in leads to the front page: if you were given a link, open it once more "
        "afterwards."
    )
    st.button("Sign in", type="primary", icon=":material/login:", on_click=st.login)
    st.stop()


def _is_set_up() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False
