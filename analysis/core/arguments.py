"""The values of a link as the typed arguments of what they ask for: a figure's parameters, a request to a model.

A link's text becomes values by `analysis.links`; here their types and the values that are known are checked, in one way
for links, forms and commands.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from analysis.core.errors import LinkError

ArgumentsT = TypeVar("ArgumentsT")


def validated(of: type[ArgumentsT], values: Mapping[str, Any]) -> ArgumentsT:
    """The instance of a class, a dataclass or `Parameters`, that values by the names of its fields make.

    Other values are passed over. Raises LinkError, naming the field, its value and what was expected.
    """
    try:
        return TypeAdapter(of).validate_python(dict(values))
    except ValidationError as invalid:
        raise LinkError(" ".join(_explain(error) for error in invalid.errors())) from None


class Parameters(BaseModel):
    """The parameters of one figure: some of the fields of the link of a page that shows it.

    A subclass names its fields with their types; `Annotated[str, one_of(KNOWN)]` is a field that may say one of those.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    topic: ClassVar[str] = ""
    """The word before a field's name in the link of a page whose other figures use that name too: `glue_preset`."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The parameters that a link's values give; fields of other figures are passed over.

        Raises LinkError, naming the field, its value and what was expected.
        """
        return validated(cls, cls.declared(values))

    @classmethod
    def declared(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The entries of a link's values that this class declares, by their names without the topic.

        >>> GlueParameters.declared({"preset": "cpu2", "glue_preset": "surgery", "protocol": "mean"})
        {'preset': 'surgery', 'protocol': 'mean'}
        """
        fields = cls.fields(values)
        return {name: values[field] for name, field in fields.items() if field in values}

    @classmethod
    def fields(cls, known: Collection[str]) -> dict[str, str]:
        """The name of each parameter -> the field of a link that gives it: its own, or that with the topic before it.

        known: the names of the link's fields.
        """
        names = [info.alias or name for name, info in cls.model_fields.items()]
        return {name: f"{cls.topic}_{name}" if f"{cls.topic}_{name}" in known else name for name in names}

    def values(self, *names: str) -> dict[str, Any]:
        """Some of the fields with their values, as a link has them; all where none is named."""
        return {name: getattr(self, name) for name in names or type(self).model_fields}


def one_of(known: Collection[str]) -> AfterValidator:
    """Restricts a field to known values: `measure: Annotated[str, one_of(MEASURES)]`."""

    expected = ", ".join(filter(None, known)) + (", or nothing" if "" in known else "")

    def check(value: str) -> str:
        if value not in known:
            raise PydanticCustomError("one_of", "expected one of: {expected}", {"expected": expected})
        return value

    return AfterValidator(check)


def whole_number(minimum: int, maximum: int) -> AfterValidator:
    """Restricts a field to a range, both ends included: `angle: Annotated[int, whole_number(0, 90)]`."""

    def check(value: int) -> int:
        if not minimum <= value <= maximum:
            limits = {"least": minimum, "most": maximum}
            raise PydanticCustomError("whole_number", "expected a whole number from {least} to {most}", limits)
        return value

    return AfterValidator(check)


def _explain(error: Mapping[str, Any]) -> str:
    """One problem that pydantic has with a link's value, as a sentence."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"The link says nothing of {name}, which is needed here."
    return f"The link says {name}={error['input']!r}; {error['msg'][0].lower()}{error['msg'][1:]}."
