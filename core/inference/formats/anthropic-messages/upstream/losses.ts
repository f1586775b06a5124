// What this family cannot express of a request (docs/fidelity.md#losses). A request in its own dialect is sent as it
// came, so it only loses what the endpoint does not list.

import { isObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { editLosses } from '../../../canonical/edits/edits.ts';
import { extLosses } from '../../../canonical/ext-losses.ts';
import { keepsRole, splitSystem } from '../../../canonical/instructions.ts';
import { parameters } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import { searchLosses, serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type { CanonicalRequest, Loss, Part, Tool } from '../../../canonical/types.ts';
import { isForeignSearch, runsSearch, toolPath } from '../../../canonical/web-search.ts';
import { editsContext, listedBetas, opensBeta } from '../words/betas.ts';
import { SEARCH_OPTIONS } from '../words/search.ts';
import { capOf, planThinking } from '../words/thinking.ts';
import { BREAKPOINTS_MAX, replayable, takesDocument } from './content.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

type Say = (kind: Loss['class'], code: string, param: string, message: string) => void;

/** Body members of this dialect that need a beta, with the beginning of its name. */
const GATED: Record<string, string> = {
  mcp_servers: 'mcp-client-',
  fallbacks: 'server-side-fallback-',
  compaction: 'compact-',
  task_budget: 'task-budgets-',
  diagnostics: 'cache-diagnosis-',
  thread: 'message-threads-',
  fallback_credit_token: 'fallback-credit-',
  container: 'skills-',
};

/**
 * Whether the endpoint runs this tool of the family: the caller's own toolsets always, server tools when it lists
 * them.
 */
export function runsTool(tool: Tool, _request: CanonicalRequest, target: Target): boolean {
  if (tool.search !== undefined && runsSearch(target)) return true;
  if (tool.family !== 'anthropic_messages') return false;
  const type = typeof tool.payload?.['type'] === 'string' ? tool.payload['type'] : tool.name;
  if (tool.by_caller === true) return true;
  const listed = target.capabilities.server_tools;
  return listed.includes('*') || listed.includes(type) || listed.includes(type.replace(/_\d{8}$/, ''));
}

/** Everything that `request` would lose on `target`; empty when nothing. */
export function findLosses(request: CanonicalRequest, target: Target): Loss[] {
  const losses: Loss[] = [];
  const say: Say = (kind, code, param, message) => {
    losses.push({ class: kind, code, param, message });
  };
  const own = request.dialect === 'messages';
  betas(request, target, say);
  tools(request, target, own, say);
  losses.push(...sampling(request, target, own));
  if (own) {
    if (request.service_tier === 'fast' && !target.capabilities.parameters.includes('speed')) {
      say('behaviour', 'service_tier_ignored', 'speed', 'Fast mode has no price on this endpoint.');
    }
    gated(request, target, say);
    if (!editsContext(request, target)) losses.push(...editLosses(request));
    ownHistory(request, say);
  } else {
    losses.push(...extLosses(request));
    const facts = { target, own, thinks: false };
    losses.push(...applyRules(outputPreferences, OUTPUT, request.output ?? {}, facts).losses);
    others(request, target, say);
    history(request, target, say);
    losses.push(...planThinking(request, target, capOf(request, target)).losses);
  }
  return losses;
}

function betas(request: CanonicalRequest, target: Target, say: Say): void {
  const listed = listedBetas(request, target);
  for (const beta of request.anthropic?.betas ?? []) {
    if (!listed.includes(beta))
      say('hint', 'beta_ignored', 'anthropic-beta', `Beta '${beta}' is not offered here.`);
  }
}

function gated(request: CanonicalRequest, target: Target, say: Say): void {
  const inner = request.ext?.['output_config'];
  for (const name of [...Object.keys(request.ext ?? {}), ...(isObject(inner) ? Object.keys(inner) : [])]) {
    const prefix = GATED[name];
    if (prefix === undefined) continue;
    if (!opensBeta(request, target, prefix))
      say('content', 'beta_member_unsupported', name, `'${name}' needs a beta that is not offered here.`);
  }
}

function tools(request: CanonicalRequest, target: Target, own: boolean, say: Say): void {
  request.tools?.forEach((tool, i) => {
    const param = toolPath(tool, i);
    if (isForeignSearch(tool, 'anthropic_messages')) {
      const at = { path: param, target, carried: SEARCH_OPTIONS };
      for (const loss of searchLosses(request, tool, at)) {
        say(loss.class, loss.code, loss.param, loss.message);
      }
    } else if (!target.capabilities.tools) {
      say('content', 'tools_unsupported', param, 'This model does not accept tools.');
    } else if (tool.kind === 'server') {
      if (!runsTool(tool, request, target)) {
        const message = `Tool '${tool.name}' is not offered here.`;
        const loss = serverToolLoss(request, tool, { code: 'server_tool', param, message });
        say(loss.class, loss.code, loss.param, loss.message);
      }
    } else if (tool.kind === 'custom') {
      const grammar = tool.format !== undefined && tool.format['type'] !== 'text';
      if (grammar)
        say(
          'content',
          'custom_tool_grammar',
          `${param}.format`,
          'The input of this tool cannot be made to follow a grammar here.',
        );
      else say('behaviour', 'custom_tool_emulated', param, 'Sent as a function with one text field.');
    }
    if (!own && tool.ext !== undefined && Object.keys(tool.ext).length > 0) {
      const names = Object.keys(tool.ext).join(', ');
      say('hint', 'tool_option_dropped', param, `Not sent to this provider: ${names}.`);
    }
  });
}

function sampling(request: CanonicalRequest, target: Target, own: boolean): readonly Loss[] {
  const thinks = !own && planThinking(request, target, capOf(request, target)).on;
  return applyRules(parameters, GENERATION, request.generation, { target, own, thinks }).losses;
}

function others(request: CanonicalRequest, target: Target, say: Say): void {
  const { service_tier, cache } = request;
  if (service_tier !== undefined && service_tier !== 'auto' && service_tier !== 'default') {
    say('behaviour', 'service_tier_ignored', 'service_tier', `Tier '${service_tier}' is not offered here.`);
  }
  if (cache?.hint !== undefined && !target.capabilities.cache) {
    say('hint', 'cache_hint_dropped', 'cache', 'This model has no prompt cache to control.');
  }
}

function history(request: CanonicalRequest, target: Target, say: Say): void {
  const { messages } = request;
  const { system, rest } = splitSystem(messages);
  const moved = rest.findIndex((message) => message.role === 'system' && !keepsRole(message, rest, target));
  if (moved >= 0) {
    const param = `messages[${system.length + moved}]`;
    say('behaviour', 'system_position_changed', param, 'This instruction is sent in a turn of the user.');
  }
  if (messages.at(-1)?.role === 'assistant' && !target.capabilities.prefill) {
    say(
      'content',
      'prefill_unsupported',
      `messages[${messages.length - 1}]`,
      'This model does not continue an answer.',
    );
  }
  let breakpoints = (request.tools ?? []).filter((tool) => tool.cache !== undefined).length;
  messages.forEach((message, i) => {
    if (message.name !== undefined) {
      say('hint', 'name_dropped', `messages[${i}].name`, 'This provider has no field for names.');
    }
    for (const name of Object.keys(message.ext ?? {})) {
      // `developer` means `system` outside its own families, so nothing is lost.
      if (name === 'role') continue;
      const kind = name === 'audio' ? 'content' : 'behaviour';
      say(
        kind,
        'unknown_parameter_dropped',
        `messages[${i}].${name}`,
        'Unknown fields are not sent to this provider.',
      );
    }
    message.content.forEach((part, j) => {
      if (part.cache !== undefined) breakpoints++;
      lostOfPart(part, `messages[${i}].content[${j}]`, message.role, target, say);
    });
  });
  if (breakpoints > BREAKPOINTS_MAX) {
    say(
      'hint',
      'cache_hint_dropped',
      'cache_control',
      `Only the last ${BREAKPOINTS_MAX} breakpoints are kept.`,
    );
  } else if (breakpoints > 0 && !target.capabilities.cache) {
    say('hint', 'cache_hint_dropped', 'cache_control', 'This model has no prompt cache to control.');
  }
}

function lostOfPart(part: Part, param: string, role: string, target: Target, say: Say): void {
  if (part.ext !== undefined && Object.keys(part.ext).length > 0) {
    say('behaviour', 'unknown_parameter_dropped', param, 'Unknown fields are not sent to this provider.');
  }
  switch (part.type) {
    case 'image':
      if (!target.capabilities.vision)
        say('content', 'image_unsupported', param, 'This model does not accept images.');
      else if (role === 'assistant')
        say('content', 'image_unsupported', param, 'Images of an earlier answer are not sent back.');
      else if (part.detail !== undefined && part.detail !== 'auto') {
        say('hint', 'image_detail_dropped', `${param}.detail`, 'This provider chooses the detail itself.');
      }
      return fileOf(part.src, param, say);
    case 'audio':
    case 'video':
      return say('content', `${part.type}_unsupported`, param, `This provider does not accept ${part.type}.`);
    case 'document':
      fileOf(part.src, param, say);
      if (!takesDocument(part.src, target) && !('file_id' in part.src)) {
        say('content', 'document_unsupported', param, 'This endpoint cannot read the document.');
      }
      return;
    case 'reasoning':
      if (replayable(part)) return;
      return say(
        'hint',
        'reasoning_signature_dropped',
        param,
        'Reasoning of another family cannot be continued here.',
      );
    case 'text':
      if (part.citations?.some((citation) => citation.kind === 'url' && (citation.opaque ?? '') === '')) {
        say('hint', 'citation_dropped', param, 'Web citations of other providers are not sent back.');
      }
      return;
    case 'server_tool':
      if (part.family === 'anthropic_messages') return;
      return say('content', 'server_tool', param, 'A server tool of another family cannot be replayed.');
    case 'tool_result':
    case 'search_result':
      for (const [i, inner] of part.content.entries())
        lostOfPart(inner, `${param}.content[${i}]`, role, target, say);
      return;
    case 'tool_call':
      if (part.signature === undefined) return;
      return say(
        'hint',
        'reasoning_signature_dropped',
        param,
        'The signature of another provider is not sent to this one.',
      );
    case 'refusal':
  }
}

function fileOf(src: object, param: string, say: Say): void {
  if ('file_id' in src && 'family' in src && src.family !== 'anthropic_messages') {
    say('content', 'file_unsupported', param, 'A file of another provider cannot be read here.');
  }
}

function ownHistory(request: CanonicalRequest, say: Say): void {
  request.messages.forEach((message, i) => {
    message.content.forEach((part, j) => {
      if (part.type === 'reasoning' && part.format !== 'anthropic-claude-v1') {
        const param = `messages[${i}].content[${j}]`;
        say(
          'hint',
          'reasoning_signature_dropped',
          param,
          'Reasoning of another family cannot be continued here.',
        );
      }
    });
  });
}
