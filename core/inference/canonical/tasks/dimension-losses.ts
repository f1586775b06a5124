// Vectors of a length that was asked for.
import type { Target } from '../contract.ts';
import type { EmbedTask, Loss } from '../types.ts';

/** The loss of `dimensions` where the endpoint always gives its own number of them. */
export function dimensionLosses(task: EmbedTask, target: Target): Loss[] {
  if (task.dimensions === undefined || target.capabilities.parameters.includes('dimensions')) return [];
  const message = 'The endpoint gives vectors of its own length; the gateway never shortens one.';
  return [{ class: 'content', code: 'unsupported_parameter', param: 'dimensions', message }];
}
