// Messages and stack traces of failures as payloads, so that they are encrypted with the rest. Runs in Temporal's sandbox too.
import { DefaultFailureConverter } from '@temporalio/common';

/** The name that Temporal's SDK looks for. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
