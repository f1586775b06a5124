// Structured logs on standard error. A log line never carries a secret or content: callers pass ids, codes and
// counts; the serialiser drops what errors of drivers carry along (queries, parameters, headers).
import { pino } from 'pino';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
  };
}

/** A logger that writes JSON lines to standard error at `level` and above. */
export function createLog(level: string, program: string): Log {
  return pino(
    { level, base: { program }, serializers: { error: errorFields } },
    pino.destination({ dest: 2, sync: false }),
  );
}

/** A logger that writes nothing, for tests and tools that print for people. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child() {
    return silentLog;
  },
};
