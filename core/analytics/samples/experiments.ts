// What rows say of experiments: in which arm a call was, and how it went.
import type { RequestRow } from '../types.ts';

/** The members of an experiment's sample that are not columns of its row, in the order of `INSERT_ARM_SAMPLES`. */
interface ArmSample {
  readonly request_id: string;
  readonly name: string;
  readonly version: number;
  readonly experiment: string;
  readonly arm: string;
  readonly bucket: number;
}

/** The sample of a row; null where it is none: no experiment, or no attempt was made. */
function sampleOf({ request_id, route_trace, attempts }: RequestRow): ArmSample | null {
  if (route_trace?.experiment === undefined || route_trace.version === null || attempts === 0) return null;
  const { policy: name, version } = route_trace;
  const { name: experiment, arm, bucket } = route_trace.experiment;
  return { request_id, name, version, experiment, arm, bucket };
}

/** The samples of a batch as columns; null where it has none. */
export function armSampleColumns(batch: readonly RequestRow[]): readonly unknown[][] | null {
  const samples = batch.map(sampleOf).filter((sample) => sample !== null);
  if (samples.length === 0) return null;
  return [
    samples.map(({ request_id }) => request_id),
    samples.map(({ name }) => name),
    samples.map(({ version }) => version),
    samples.map(({ experiment }) => experiment),
    samples.map(({ arm }) => arm),
    samples.map(({ bucket }) => bucket),
  ];
}
