"""Reads messages with python-hl7. Standard input: JSON, [{"bytes": base64, "charset"}]. Output: JSON, the segments of each message.

A segment is {"name", "fields"}; fields[5] is the list of repetitions of field 5, a repetition a list of components, a component a list of
subcomponents. Escape sequences are resolved.
"""

import base64
import json
import sys

import hl7


def components(field, unescape):
    repetitions = field if isinstance(field, hl7.Field) else [field]
    return [
        [
            [unescape(str(part)) for part in (component if isinstance(component, hl7.Component) else [component])] or [""]
            for component in (repetition if isinstance(repetition, hl7.Repetition) else [repetition])
        ]
        or [[""]]
        for repetition in repetitions
    ] or [[[""]]]


def read(source):
    message = hl7.parse(base64.b64decode(source["bytes"]).decode(source["charset"]))
    segments = []
    for segment in message:
        name = str(segment[0])
        fields = []
        for index, field in enumerate(segment):
            as_it_is = name == "MSH" and index in (1, 2)
            fields.append([[[str(field)]]] if as_it_is else components(field, message.unescape))
        segments.append({"name": name, "fields": fields})
    return segments


json.dump([read(source) for source in json.load(sys.stdin)], sys.stdout)
