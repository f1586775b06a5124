// What Converse cannot express of a request (docs/fidelity.md#losses). It has no dialect of its own, so every field
// that the canonical form does not name is lost too.
import type { Target } from '../../../canonical/contract.ts';
import { extLosses } from '../../../canonical/ext-losses.ts';
import { parameters } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import { serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type { CanonicalRequest, Loss, Message, Part, Tool } from '../../../canonical/types.ts';
import { toolPath } from '../../../canonical/web-search.ts';
import { listedBetas } from '../../anthropic-messages/words/betas.ts';
import { capOf } from '../../anthropic-messages/words/thinking.ts';
import { CACHE_POINTS_MAX, isUsersOwn, keepsRole, replayable, splitSystem } from './content.ts';
import { cacheHints, TIERS } from './encode.ts';
import { formatWord, takesMedia } from './media.ts';
import { makerOf } from './model.ts';
import { factsOf, GENERATION, OUTPUT } from './parameters.ts';
import { planReasoning } from './reasoning.ts';
import { keepsTools, takesStrict } from './tools.ts';

type Say = (kind: Loss['class'], code: string, param: string, message: string) => void;

/** Everything that `request` would lose on `target`; empty when nothing. */
export function findLosses(request: CanonicalRequest, target: Target): Loss[] {
  const losses: Loss[] = extLosses(request);
  const say: Say = (kind, code, param, message) => {
    losses.push({ class: kind, code, param, message });
  };
  request.messages.forEach((message, i) => {
    messageLosses(message, `messages[${i}]`, target, say);
  });
  placeLosses(request, target, say);
  toolLosses(request, target, say);
  const plan = planReasoning(request, target, capOf(request, target));
  const facts = factsOf(target, plan);
  losses.push(...applyRules(parameters, GENERATION, request.generation, facts).losses);
  losses.push(...applyRules(outputPreferences, OUTPUT, request.output ?? {}, facts).losses);
  tierLosses(request, target, say);
  hintLosses(request, target, say);
  losses.push(...plan.losses);
  return losses;
}

/** Members of a message's `ext` whose loss changes nothing: `developer` means `system`. */
const SILENT = new Set(['role']);
/** The blocks that a document was read from; its text contains what they say. */
const SOURCE = new Set(['source']);
const NONE: ReadonlySet<string> = new Set();

function extLost(ext: object | undefined, path: string, silent: ReadonlySet<string>, say: Say): void {
  const names = Object.keys(ext ?? {}).filter((name) => !silent.has(name));
  if (names.length === 0) return;
  const kind = names.includes('audio') ? 'content' : 'behaviour';
  say(kind, 'unknown_parameter_dropped', path, `Not sent to this provider: ${names.join(', ')}.`);
}

function messageLosses(message: Message, path: string, target: Target, say: Say): void {
  if (message.name !== undefined)
    say('hint', 'name_dropped', `${path}.name`, 'This provider has no field for names.');
  extLost(message.ext, path, SILENT, say);
  message.content.forEach((part, j) => {
    partLosses(part, `${path}.content[${j}]`, message.role === 'assistant', target, say);
  });
}

function partLosses(part: Part, path: string, assistant: boolean, target: Target, say: Say): void {
  extLost(part.ext, path, part.type === 'document' ? SOURCE : NONE, say);
  if (assistant && isUsersOwn(part)) {
    say(
      'content',
      `${part.type}_unsupported`,
      path,
      'Media of an answer are not sent back to this provider.',
    );
    return;
  }
  switch (part.type) {
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') {
        say('hint', 'image_detail_dropped', `${path}.detail`, 'This provider chooses the detail itself.');
      }
      return mediaLosses(part, path, target, say);
    case 'audio':
    case 'video':
    case 'document':
      return mediaLosses(part, path, target, say);
    case 'reasoning':
      if (replayable(part, target)) return;
      return say('hint', 'reasoning_signature_dropped', path, 'This reasoning cannot be continued here.');
    case 'server_tool':
      if (part.family === 'bedrock_converse') return;
      return say('content', 'server_tool', path, 'A server tool of another family cannot be replayed.');
    case 'search_result':
      for (const [k, inner] of part.content.entries()) {
        if (inner.type === 'text') continue;
        say(
          'content',
          `${inner.type}_unsupported`,
          `${path}.content[${k}]`,
          'A search result holds text only.',
        );
      }
      return;
    case 'tool_result':
      for (const [k, inner] of part.content.entries())
        partLosses(inner, `${path}.content[${k}]`, false, target, say);
      return;
    case 'tool_call':
      if (part.signature === undefined) return;
      return say(
        'hint',
        'reasoning_signature_dropped',
        path,
        'The signature of another provider is not sent to this one.',
      );
    case 'text':
    case 'refusal':
  }
}

function mediaLosses(part: Extract<Part, { src: object }>, path: string, target: Target, say: Say): void {
  const { src, type } = part;
  if ('file_id' in src) {
    return say('content', 'file_unsupported', path, 'A file stored at another provider cannot be read here.');
  }
  if (!takesMedia(part, target)) {
    return say('content', `${type}_unsupported`, path, `This endpoint does not accept such ${type}.`);
  }
  if ('base64' in src && formatWord(part, src.media_type) === null) {
    say(
      'content',
      `${type}_format_unsupported`,
      path,
      `This provider does not accept ${type} of ${src.media_type}.`,
    );
  }
}

/** Losses that depend on the position of a message. */
function placeLosses({ messages }: CanonicalRequest, target: Target, say: Say): void {
  const { system, rest } = splitSystem(messages);
  const moved = rest.findIndex((message) => message.role === 'system' && !keepsRole(message, rest, target));
  if (moved >= 0) {
    const param = `messages[${system.length + moved}]`;
    say('behaviour', 'system_position_changed', param, 'This instruction is sent in a turn of the user.');
  }
  if (messages.at(-1)?.role === 'assistant' && !target.capabilities.prefill) {
    const param = `messages[${messages.length - 1}]`;
    say('content', 'prefill_unsupported', param, 'This model does not continue an answer.');
  }
}

function toolLosses(request: CanonicalRequest, target: Target, say: Say): void {
  request.tools?.forEach((tool, i) => {
    oneToolLosses(request, tool, toolPath(tool, i), { target, say });
  });
  if (request.tool_choice?.type === 'none' && keepsTools(request)) {
    const why = 'The history has tool calls, so the tools stay declared and the model may call them.';
    say('behaviour', 'tool_choice_dropped', 'tool_choice', why);
  }
  const many = (request.tools?.length ?? 0) > 0 && request.parallel_tools === false;
  if (many && makerOf(target) !== 'anthropic') {
    say('behaviour', 'parallel_dropped', 'parallel_tool_calls', 'This model does not take this parameter.');
  }
}

function oneToolLosses(
  request: CanonicalRequest,
  tool: Tool,
  path: string,
  { target, say }: { target: Target; say: Say },
): void {
  if (!target.capabilities.tools) {
    say('content', 'tools_unsupported', path, 'This model does not accept tools.');
  } else if (tool.kind === 'server') {
    if (tool.family !== 'bedrock_converse') {
      const code = tool.member === undefined ? 'server_tool' : 'unsupported_parameter';
      const message = `Tool '${tool.name}' is not offered here.`;
      const loss = serverToolLoss(request, tool, { code, param: path, message });
      say(loss.class, loss.code, loss.param, loss.message);
    }
  } else if (tool.kind === 'custom') {
    const grammar = tool.format !== undefined && tool.format['type'] !== 'text';
    if (grammar)
      say(
        'content',
        'custom_tool_grammar',
        `${path}.format`,
        'The input of this tool cannot be made to follow a grammar here.',
      );
    else say('behaviour', 'custom_tool_emulated', path, 'Sent as a function with one text field.');
  }
  if (tool.strict === true && !takesStrict(target)) {
    say(
      'behaviour',
      'strict_dropped',
      `${path}.strict`,
      'This model does not guarantee that it follows the schema.',
    );
  }
  if (tool.ext !== undefined && Object.keys(tool.ext).length > 0) {
    const names = Object.keys(tool.ext).join(', ');
    say('hint', 'tool_option_dropped', path, `Not sent to this provider: ${names}.`);
  }
}

function tierLosses({ service_tier }: CanonicalRequest, target: Target, say: Say): void {
  if (service_tier === undefined || service_tier === 'auto' || service_tier === 'default') return;
  if (!TIERS.includes(service_tier) || !target.capabilities.parameters.includes('service_tier')) {
    say('behaviour', 'service_tier_ignored', 'service_tier', `Tier '${service_tier}' is not offered here.`);
  }
}

function hintLosses(request: CanonicalRequest, target: Target, say: Say): void {
  if (request.user !== undefined) {
    say('hint', 'user_dropped', 'user', 'This provider has no field for the end user.');
  }
  const hints = cacheHints(request);
  if (hints > 0 && !target.capabilities.cache) {
    say('hint', 'cache_hint_dropped', 'cache_control', 'This model has no prompt cache to control.');
  } else if (hints > CACHE_POINTS_MAX) {
    const why = `Only the last ${CACHE_POINTS_MAX} breakpoints are kept.`;
    say('hint', 'cache_hint_dropped', 'cache_control', why);
  }
  const listed = makerOf(target) === 'anthropic' ? listedBetas(request, target) : [];
  for (const beta of request.anthropic?.betas ?? []) {
    if (!listed.includes(beta))
      say('hint', 'beta_ignored', 'anthropic-beta', `Beta '${beta}' is not offered here.`);
  }
}
