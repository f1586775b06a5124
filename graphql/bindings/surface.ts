// What GraphQL needs to run operations the way REST does: the same contexts, the same input checks and the same
// refusals.
import type { Caller, Operation, RequestId } from '@svc/core/kernel/index.ts';
import { shapeOf } from '@svc/core/operations/index.ts';
import {
  errorBody,
  type HttpParts,
  type InputReader,
  inputReader,
  type RawInput,
  refusalOf,
  requestContext,
} from '@svc/http/index.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SurfaceRequest } from '../run.ts';

const readers = new WeakMap<Operation, InputReader>();

function readerOf(operation: Operation): InputReader {
  const known = readers.get(operation);
  if (known !== undefined) return known;
  const made = inputReader(operation);
  readers.set(operation, made);
  return made;
}

/** Sorts the members of an input into path, query and body, as REST has them. Values keep their types. */
function placed(operation: Operation, input: Readonly<Record<string, unknown>>): RawInput {
  const shape = shapeOf(operation);
  const params: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    (Object.hasOwn(shape.path, name) ? params : rest)[name] = value;
  }
  return {
    params: params as RawInput['params'],
    query: (shape.body === null ? rest : {}) as RawInput['query'],
    body: shape.body === null ? undefined : rest,
  };
}

/** The surface of `request`, acting as `caller`. Operations set headers on `reply`; null once it has been sent. */
export function operationSurface(
  parts: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply | null,
  caller: Caller,
): SurfaceRequest {
  const request_id = request.id as RequestId;
  return {
    request_id,
    caller,
    contextOf: (acting) => requestContext(parts, request, reply, acting),
    readInput: (operation, input) => readerOf(operation)(placed(operation, input)),
    refusalBody: (error) =>
      errorBody(error, { request_id, base_url: request.storefront?.address ?? parts.base_url }),
    explain: (thrown) => refusalOf(thrown, request_id, parts.log),
  };
}
