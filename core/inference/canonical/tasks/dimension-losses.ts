// Requests for vectors of a certain length.
import type { Target } from '../contract.ts';
import type { EmbedTask, Loss } from '../types.ts';

/** The loss of `dimensions` on an endpoint whose vectors have a fixed length. */
export function dimensionLosses(task: EmbedTask, target: Target): Loss[] {
  if (task.dimensions === undefined || target.capabilities.parameters.includes('dimensions')) return [];
  const message = 'The endpoint returns vectors of a fixed length; the gateway never shortens one.';
  return [{ class: 'content', code: 'unsupported_parameter', param: 'dimensions', message }];
}
