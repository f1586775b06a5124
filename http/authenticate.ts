// Reads the credential from a request's headers. Only one header is accepted, and only once, so that there is one set
// of rules.
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@svc/core/kernel/index.ts';

const BEARER = /^bearer +([\x21-\x7e]+)$/i;
/** Longest value that is accepted; a key has 47 characters. */
const VALUE_MAX = 512;

function valuesOf(raw: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const { rawHeaders } = raw;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) {
      values.push(rawHeaders[i + 1] as string);
    }
  }
  return values;
}

function required(message: string): ServiceError {
  return new ServiceError('authentication_required', message);
}

function only(values: readonly string[], header: string): string | null {
  if (values.length > 1) throw required(`Send one ${header} header, not ${values.length}.`);
  const value = values[0] ?? null;
  if (value !== null && value.length > VALUE_MAX) throw required(`The ${header} header is too long.`);
  return value;
}

/**
 * The key in a request's headers, not yet verified. `x_api_key` says whether that header is accepted on this route.
 * @throws ServiceError authentication_required when there is no key, a header is repeated, or two headers differ.
 */
export function credentialOf(raw: IncomingMessage, x_api_key: boolean): string {
  const authorization = only(valuesOf(raw, 'authorization'), 'Authorization');
  const header = x_api_key ? only(valuesOf(raw, 'x-api-key'), 'x-api-key') : null;
  const bearer = authorization === null ? null : (BEARER.exec(authorization)?.[1] ?? null);
  if (authorization !== null && bearer === null) {
    throw required('Send the key as `Authorization: Bearer <key>`.');
  }
  if (bearer !== null && header !== null && bearer !== header.trim()) {
    throw required('Authorization and x-api-key name different keys. Send one.');
  }
  const credential = bearer ?? header?.trim() ?? null;
  if (credential !== null && credential !== '') return credential;
  throw required('Send an API key as `Authorization: Bearer <key>`.');
}

/** The bearer token in a request's headers; null when there is none. @throws ServiceError authentication_required. */
export function bearerOf(raw: IncomingMessage): string | null {
  return only(valuesOf(raw, 'authorization'), 'Authorization') === null ? null : credentialOf(raw, false);
}
