import { expect, test } from 'vitest';
import { parseMembers, requestFor } from './api.ts';

const member = (name: string, at: 'path' | 'query') => ({ name, in: at });

test('path members fill the path and are escaped, the rest of a GET is its query', () => {
  const operation = { method: 'GET', path: '/v1/keys/{id}', members: [member('id', 'path')] };
  expect(requestFor(operation, parseMembers(['id=a/b', 'limit=5']))).toEqual({
    path: '/v1/keys/a%2Fb?limit=5',
    body: null,
  });
});

test('a POST puts into the query what the document says and the rest into the body, JSON as JSON', () => {
  const operation = { method: 'POST', path: '/v1/keys', members: [member('dry', 'query')] };
  const given = parseMembers(['name=5', 'rpm:=5', 'scopes:=["inference"]', 'dry=1']);
  expect(requestFor(operation, given)).toEqual({
    path: '/v1/keys?dry=1',
    body: '{"name":"5","rpm":5,"scopes":["inference"]}',
  });
});

test('a missing path member and a malformed member are reported', () => {
  const operation = { method: 'GET', path: '/v1/keys/{id}', members: [] };
  expect(() => requestFor(operation, parseMembers([]))).toThrow('id= is needed');
  expect(() => parseMembers(['name'])).toThrow('name=text or name:=json');
  expect(() => parseMembers(['a:={'])).toThrow('takes JSON');
});
