// What a caller sees of an error: a refusal keeps its code, a defect is masked. Mutations return refusals as members
// of their result union, queries as errors of the field.
import {
  codes,
  type ErrorCode,
  type ErrorType,
  isObject,
  type RequestId,
  ServiceError,
} from '@svc/core/kernel/index.ts';
import { GraphQLError } from 'graphql';
import { inputPath } from './names.ts';

/** A refusal of a mutation, as an object of the schema. */
export interface UserError {
  readonly __typename: string;
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[] | null;
  readonly requestId: string;
  readonly retryAfterMs: number | null;
}

/**
 * Member of every result union by error type. Other types are our own faults or a problem with the sign-in, and are
 * reported as top-level errors.
 */
const members: Readonly<Partial<Record<ErrorType, string>>> = {
  invalid_request_error: 'ValidationError',
  permission_error: 'PermissionError',
  not_found_error: 'NotFoundError',
  conflict_error: 'ConflictError',
  rate_limit_error: 'RateLimitError',
  billing_error: 'PaymentError',
};

export const userErrorNames: readonly string[] = Object.values(members);

/** `error` as a member of a result union; null when it is reported as a top-level error. */
export function userErrorOf(error: unknown, request_id: RequestId): UserError | null {
  if (!(error instanceof ServiceError)) return null;
  const name = members[error.type];
  if (name === undefined) return null;
  return {
    __typename: name,
    code: error.code,
    message: error.message,
    path: inputPath(error.param),
    requestId: request_id,
    retryAfterMs: error.retry_after_ms,
  };
}

/** A refusal as an error of a field. */
export function refusalError(error: ServiceError, request_id: RequestId): GraphQLError {
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: {
      code: error.code,
      type: error.type,
      request_id,
      retry: error.retry,
      ...(error.param === null ? {} : { param: error.param }),
      ...(Object.keys(error.details).length === 0 ? {} : { details: error.details }),
      ...(error.retry_after_ms === null ? {} : { retry_after_ms: error.retry_after_ms }),
    },
  });
}

/** What was thrown behind an error of the executor; null when the document itself is at fault. */
export function thrownBy(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  const { originalError } = error;
  if (originalError === undefined || originalError === null) return null;
  // A scalar or enum that cannot represent the value of a field also throws a GraphQLError. It differs from an error
  // about the document, which has a location, and from one about variables, which has no path.
  const { path } = error;
  if (path !== undefined && originalError instanceof GraphQLError && isAboutValue(originalError)) {
    return new Error(`${path.join('.')}: ${originalError.message}`, { cause: originalError });
  }
  return thrownBy(originalError);
}

function isAboutValue(error: GraphQLError): boolean {
  return (
    error.nodes === undefined &&
    (error.originalError ?? null) === null &&
    error.extensions['code'] === undefined
  );
}

/** How GraphQL says what it found in the place of something else, or was given: those words end with the value itself. */
const quoting: readonly (readonly [RegExp, string])[] = [
  [/(cannot represent [\w -]*value): .*$/s, '$1.'],
  [/^(Expected value of type "[^"]*"), found .*$/s, '$1.'],
  [/^(Syntax Error: .*?\b(?:Block)?String) ".*$/s, '$1.'],
];

/**
 * `error` without what was given: of a variable with one wrong member GraphQL repeats the whole value, and inputs hold
 * secrets. Variable and place stay, and what is expected there.
 */
export function withoutValues(error: GraphQLError): GraphQLError {
  const { message } = error;
  const plain = (text: string) => quoting.reduce((said, [found, kept]) => said.replace(found, kept), text);
  const name = /^(Variable "\$\w+") got invalid value /.exec(message)?.[1];
  if (name === undefined) {
    const words = plain(message);
    return words === message ? error : remade(error, words);
  }
  const reason = error.originalError?.message ?? '';
  const place = / at "[^"]+"(?=; $)/.exec(message.slice(0, message.length - reason.length))?.[0] ?? '';
  const words = `${name} got an invalid value${place}`;
  return remade(error, reason === '' ? `${words}.` : `${words}; ${plain(reason)}`);
}

/**
 * `error` as it is sent. `explain` turns anything thrown into a refusal and logs defects (`operationSurface`). Errors
 * about the document are kept and get a code of their own.
 */
export function shownError(
  error: GraphQLError,
  request_id: RequestId,
  explain: (thrown: unknown) => ServiceError,
): GraphQLError {
  const thrown = thrownBy(error);
  if (thrown === null) {
    const said = withoutValues(error);
    if (typeof said.extensions['code'] === 'string') return said;
    return withExtensions(said, { code: 'GRAPHQL_VALIDATION_FAILED' });
  }
  const shown = refusalError(explain(thrown), request_id);
  return new GraphQLError(shown.message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    ...(error.path === undefined ? {} : { path: error.path }),
    extensions: shown.extensions,
  });
}

/** `error` with other words, at the same place. */
function remade(error: GraphQLError, message: string, extensions = error.extensions): GraphQLError {
  return new GraphQLError(message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    ...(error.source === undefined ? {} : { source: error.source }),
    ...(error.positions === undefined ? {} : { positions: error.positions }),
    ...(error.path === undefined ? {} : { path: error.path }),
    extensions,
  });
}

/** `error` with additional extensions. */
export function withExtensions(error: GraphQLError, extensions: Record<string, unknown>): GraphQLError {
  return remade(error, error.message, { ...error.extensions, ...extensions });
}

/** The refusal in a stored answer, which is kept as the body that REST sends. */
export function refusalOfBody(body: string): ServiceError {
  const { error } = JSON.parse(body) as { error: Record<string, unknown> };
  const code = String(error['code']);
  if (!Object.hasOwn(codes, code)) throw new Error(`a stored refusal has the code ${code}`);
  const { param, details } = error;
  return new ServiceError(code as ErrorCode, String(error['message']), {
    ...(typeof param === 'string' ? { param } : {}),
    ...(isObject(details) ? { details } : {}),
  });
}
