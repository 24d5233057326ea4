"""What became of a call to JAX, as a vector says it."""

from collections.abc import Callable

# code → the exception's type, and words that only its message has
Errors = dict[str, tuple[type[Exception], str]]


def outcome(call: Callable[[], object], errors: Errors) -> dict:
    """An exception that `errors` does not have is not an answer: it goes on up."""
    try:
        return {"ok": call()}
    except Exception as error:
        for code, (kind, words) in errors.items():
            if type(error) is kind and words in str(error):
                return {"error": code}
        raise


def each(answer: Callable[[dict], object], errors: Errors) -> Callable[[list[dict]], list[dict]]:
    """The function for many inputs of one that answers a single one."""

    def answers(inputs: list[dict]) -> list[dict]:
        return [asked(answer, value, errors) for value in inputs]

    return answers


def asked(answer: Callable[[dict], object], value: dict, errors: Errors) -> dict:
    try:
        return outcome(lambda: answer(value), errors)
    except Exception as error:
        error.add_note(f"{answer.__name__} was asked about {value}")
        raise
