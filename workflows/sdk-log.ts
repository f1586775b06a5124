// Writes the log lines of Temporal's SDK in our log format.
import type { Log } from '@svc/core/kernel/index.ts';
import { type Logger, type LogMetadata, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { sdkBuffer } from './sdk-metrics.ts';

/** A logger for the SDK that writes to `log`. What the SDK logs as info is logged as debug. */
export function sdkLogger(log: Log): Logger {
  const debug = (message: string, fields: LogMetadata = {}) => log.debug(fields, message);
  const warn = (message: string, fields: LogMetadata = {}) => log.warn(fields, message);
  const error = (message: string, fields: LogMetadata = {}) => log.error(fields, message);
  const logger = { trace: debug, debug, info: debug, warn, error };
  const by = { TRACE: debug, DEBUG: debug, INFO: debug, WARN: warn, ERROR: error };
  return { ...logger, log: (level, message, fields) => by[level](message, fields) };
}

let installed = false;

/**
 * Sets up the SDK's runtime, once per process. The SDK does not handle signals: the program stops workers, jobs and
 * listener together.
 */
export function installRuntime(log: Log): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: sdkLogger(log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      metrics: { buffer: sdkBuffer },
    },
  });
}
