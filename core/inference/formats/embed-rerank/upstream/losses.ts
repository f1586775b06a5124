// What a task would lose on an endpoint (docs/fidelity.md#losses).
import type { Target } from '../../../canonical/contract.ts';
import { dimensionLosses } from '../../../canonical/tasks/dimension-losses.ts';
import { hasImages, isContent, isTokens, pathOf } from '../../../canonical/tasks/inputs.ts';
import type { CanonicalRequest, EmbedTask, Loss } from '../../../canonical/types.ts';
import { isBundled } from './tokens.ts';
import { inputTypeOn, type Wire, wireOf } from './wires.ts';

/** Losses of a request with a task; a request without one never gets here. */
export function lossesOf(request: CanonicalRequest, target: Target): Loss[] {
  const { task } = request;
  if (task === undefined) return [];
  const wire = wireOf(target);
  const losses = task.kind === 'embed' ? embedLosses(task, target, wire) : [];
  if (!wire.open || request.dialect !== 'embeddings') {
    for (const param of Object.keys(request.ext ?? {})) {
      losses.push({
        class: 'behaviour',
        code: 'unknown_parameter_dropped',
        param,
        message: `'${param}' cannot be carried to this endpoint.`,
      });
    }
  }
  return losses;
}

function embedLosses(task: EmbedTask, target: Target, wire: Wire): Loss[] {
  const losses: Loss[] = dimensionLosses(task, target);
  if (task.input_type !== undefined && inputTypeOn(target, task.input_type) === null) {
    losses.push({
      class: 'hint',
      code: 'input_type_dropped',
      param: 'input_type',
      message: `The endpoint has no equivalent of input_type '${task.input_type}'.`,
    });
  }
  if (task.input.length > wire.inputs_max) {
    const message = `The endpoint takes at most ${wire.inputs_max} inputs per call; split the list.`;
    losses.push({ class: 'content', code: 'unsupported_parameter', param: 'input', message });
  }
  if (!wire.tokens && !isBundled(target.tokenizer) && task.input.some(isTokens)) {
    const message = 'The endpoint takes text, and the tokenizer of these token ids is not known; send text.';
    losses.push({ class: 'content', code: 'unsupported_parameter', param: 'input', message });
  }
  losses.push(...imageLosses(task, wire));
  return losses;
}

/** Images, when the provider does not support them or accepts fewer parts in one input. */
function imageLosses(task: EmbedTask, wire: Wire): Loss[] {
  const lost = (param: string, message: string): Loss => ({
    ...{ class: 'content', code: 'unsupported_parameter' },
    ...{ param, message },
  });
  if (!hasImages(task)) return [];
  const { images } = wire;
  if (images === 'none') return [lost(firstImage(task), 'The endpoint makes vectors of text only.')];
  if (images === 'mixed') return [];
  const i = task.input.findIndex((input) => isContent(input) && input.content.length > 1);
  if (i < 0) return [];
  return [lost(`${pathOf(task, i)}.content`, 'The endpoint takes one text or one image per input.')];
}

function firstImage(task: EmbedTask): string {
  const places = task.input.map((input) =>
    isContent(input) ? input.content.findIndex((part) => part.type === 'image') : -1,
  );
  const i = places.findIndex((at) => at >= 0);
  return `${pathOf(task, i)}.content[${places[i]}]`;
}
