// The SDK's own log lines in the form of ours.
import type { Log } from '@svc/core/kernel/index.ts';
import { type Logger, type LogMetadata, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** A logger of the SDK that writes to `log`; what the SDK calls information is detail here. */
export function sdkLogger(log: Log): Logger {
  const debug = (message: string, fields: LogMetadata = {}) => log.debug(fields, message);
  const warn = (message: string, fields: LogMetadata = {}) => log.warn(fields, message);
  const error = (message: string, fields: LogMetadata = {}) => log.error(fields, message);
  const logger = { trace: debug, debug, info: debug, warn, error };
  const by = { TRACE: debug, DEBUG: debug, INFO: debug, WARN: warn, ERROR: error };
  return { ...logger, log: (level, message, fields) => by[level](message, fields) };
}

let installed = false;

/** Sets up the SDK's runtime, once per process. Signals are ours: jobs and listener end with the workers. */
export function installRuntime(log: Log): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: sdkLogger(log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}
