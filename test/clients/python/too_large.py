"""Sends far too large a body with three HTTP libraries. Arguments: address, key. Prints what each of them saw."""

import http.client
import json
import sys
import urllib.parse

import httpx
import requests

address, key = sys.argv[1:3]
body = b'{"model":"sandbox/echo","x":"' + b"a" * 12_000_000 + b'"}'
headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}


def code(said):
    return said["errors"][0]["extensions"]["code"] if "errors" in said else said["error"]["code"]


def standard_library():
    url = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname, url.port)
    connection.request("POST", url.path, body, headers)
    answer = connection.getresponse()
    return [answer.status, code(json.load(answer))]


def pieces():
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


def seen(answer):
    return [answer.status_code, code(answer.json())]


print(
    json.dumps(
        {
            "http.client": standard_library(),
            "requests": seen(requests.post(address, data=body, headers=headers)),
            "requests in chunks": seen(requests.post(address, data=pieces(), headers=headers)),
            "httpx": seen(httpx.post(address, content=body, headers=headers)),
            "httpx in chunks": seen(httpx.post(address, content=pieces(), headers=headers)),
        }
    )
)
