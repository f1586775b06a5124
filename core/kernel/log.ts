// Structured logs on standard error. A log line never carries a secret or content: callers pass ids, codes and
// counts, and the serialiser drops what drivers attach to their errors (queries, parameters, headers).
import { pino } from 'pino';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/**
 * The fields of an error that are logged. The message of a syntax error quotes what was parsed, which may be content,
 * and a thrown value that is not an Error may be anything: of both only the type is logged.
 */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: `thrown: ${typeof error}` };
  const code = (error as { code?: unknown }).code;
  const quotes = error instanceof SyntaxError;
  const frames = error.stack?.slice(error.stack.indexOf('\n    at ') + 1);
  return {
    name: error.name,
    message: quotes ? 'not shown: it quotes what was parsed' : error.message,
    stack: quotes ? frames : error.stack,
    ...(code === undefined ? {} : { code }),
  };
}

/** Where lines go: anything that takes text. */
type Lines = Pick<NodeJS.WritableStream, 'write'>;

/**
 * A logger of `level` and above that writes JSON lines to `to`, standard error when absent. A line has `level` as a word
 * and `time` in ISO 8601.
 */
export function createLog(level: string, program: string, to?: Lines): Log {
  return pino(
    {
      level,
      base: { program },
      serializers: { error: errorFields },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    to ?? pino.destination({ dest: 2, sync: false }),
  );
}

/** How a line looks in a terminal: time of day, level, message, then the fields. */
const terminalForm = {
  translateTime: 'SYS:HH:MM:ss.l',
  ignore: 'pid,hostname,program',
  singleLine: true,
} as const;

/** Like `createLog`, but lines have `terminalForm` where standard error is a terminal. */
export async function openLog(level: string, program: string): Promise<Log> {
  if (!process.stderr.isTTY) return createLog(level, program);
  const { default: pretty } = await import('pino-pretty');
  return createLog(level, program, pretty({ ...terminalForm, destination: 2, sync: true, colorize: true }));
}

/** A logger that writes nothing, for tests and for tools that print to a terminal. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child() {
    return silentLog;
  },
};
