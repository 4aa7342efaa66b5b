"""What a filter selects, spelled out as plainly as NIP-01 does; the relay is compared with it."""


def _is_addressable(kind):
    return 30000 <= kind < 40000


def _tag_matches(name, values, event):
    found = any(
        len(tag) > 1 and tag[0] == name and tag[1] in values for tag in event["tags"]
    )
    if found or name != "d" or "" not in values:
        return found
    # An addressable event without a `d` value has the address with the empty one.
    first = next((tag for tag in event["tags"] if tag[0] == "d"), [])
    return _is_addressable(event["kind"]) and len(first) < 2


def selects(wanted, event):
    """Whether `event` meets one filter; `limit` has no say."""
    for name, value in wanted.items():
        if name == "ids":
            met = event["id"] in value
        elif name == "authors":
            met = event["pubkey"] in value
        elif name == "kinds":
            met = event["kind"] in value
        elif name == "since":
            met = event["created_at"] >= value
        elif name == "until":
            met = event["created_at"] <= value
        elif name.startswith("#"):
            met = _tag_matches(name[1:], value, event)
        else:
            met = name == "limit"
        if not met:
            return False
    return True


def selected(filters, events):
    """The events that meet any of the filters, each once."""
    return [event for event in events if any(selects(wanted, event) for wanted in filters)]
