"""Teams of a Drawbridge server for tests, over plain HTTP. Needs Python 3.9 or newer and no packages.

The server is that of DRAWBRIDGE_URL, DRAWBRIDGE_ORG_ID and DRAWBRIDGE_MANAGEMENT_KEY, or else that of data/demo.json, which a
server with demo data writes.
"""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta

TIMEOUT_S = 60


class DrawbridgeError(Exception):
    """A response with a status of 400 or more."""

    def __init__(self, request, status, body):
        super().__init__(f"{request} was answered with {status}: {body}")
        self.status = status
        self.body = body


def call(url, headers, method, path, body=None):
    """Sends JSON and returns the parsed body."""
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers = {**headers, "content-type": "application/json"}
    request = urllib.request.Request(url + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise DrawbridgeError(f"{method} {path.split('?')[0]}", error.code, error.read().decode()) from None


class Team:
    """A team with its own data, clock and key."""

    def __init__(self, server, org_id, management_key, region="us"):
        self.url = server.rstrip("/")
        self._management = {"x-management-key": management_key}
        self._org = f"/v1/org/{org_id}"
        self.id = self._manage("POST", "/team", {"name": "Test", "region": region})["id"]
        key = self._manage("POST", f"/team_api_keys/sandbox/{region}", {"label": "test", "team_id": self.id})
        self.api_key = key["value"]
        self._events = []
        self._cursor = self.get("/v1/events/follow?start=newest")["next_cursor"]

    def _manage(self, method, path, body=None):
        return call(self.url, self._management, method, self._org + path, body)

    def call(self, method, path, body=None):
        return call(self.url, {"x-service-api-key": self.api_key}, method, path, body)

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None):
        return self.call("POST", path, body or {})

    def current_time(self):
        return datetime.fromisoformat(self.get("/v1/sandbox/clock")["now"])

    def advance(self, seconds):
        """Moves the clock of the team forward and runs what becomes due, in order, each at its time."""
        end = self.current_time() + timedelta(seconds=seconds)
        while True:
            answer = self.post("/v1/sandbox/clock/advance", {"seconds": seconds})
            if answer["complete"]:
                return datetime.fromisoformat(answer["now"])
            # At most 2,000 jobs run in one call.
            seconds = max(1, int((end - datetime.fromisoformat(answer["now"])).total_seconds()))

    def wait_for_event(self, event_type, matches=lambda body: True, timeout=10):
        """The first event of a type since the team was created whose body matches, also one from before the call."""
        end = time.monotonic() + timeout
        while True:
            for event in self._events:
                if event["event_type"] == event_type and matches(event):
                    return event
            left = int(end - time.monotonic())
            if left < 0:
                seen = ", ".join(sorted({event["event_type"] for event in self._events})) or "none"
                raise TimeoutError(f"No {event_type} that matches within {timeout} s. Types of the events so far: {seen}.")
            query = urllib.parse.urlencode({"next_cursor": self._cursor, "wait_s": min(left, 20)})
            page = self.get(f"/v1/events/follow?{query}")
            self._cursor = page["next_cursor"]
            self._events += [json.loads(event["body"]) for event in page["data"]]

    def delete(self):
        self._manage("DELETE", f"/team/{self.id}")


def create_team(region="us"):
    names = ("DRAWBRIDGE_URL", "DRAWBRIDGE_ORG_ID", "DRAWBRIDGE_MANAGEMENT_KEY")
    if all(os.environ.get(name) for name in names):
        return Team(*(os.environ[name] for name in names), region=region)
    with open(os.path.join(os.environ.get("DATA_DIR", "data"), "demo.json"), encoding="utf-8") as file:
        demo = json.load(file)
    return Team(demo["base_url"], demo["org_id"], demo["management_key"], region=region)
