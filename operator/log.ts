// Structured logs on standard error, in the shape of the other programs' (core/kernel/log.ts).
import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** A logger that writes JSON lines to standard error at `level` and above. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: { program: 'operator' },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: false }),
  );
}
