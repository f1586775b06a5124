// The adapter of family `sandbox`. It reads the canonical form directly, so nothing in that form is lost.

import { isObject } from '../../../../kernel/index.ts';
import { completionLosses } from '../../../canonical/completion-losses.ts';
import type { Adapter, StreamDecoder, Target } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { dimensionLosses } from '../../../canonical/tasks/dimension-losses.ts';
import { listsTool, serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalRequest,
  Loss,
  Tool,
} from '../../../canonical/types.ts';
import { toolPath } from '../../../canonical/web-search.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { classify } from './faults.ts';
import { bodyText, promptTokens } from './request.ts';

/** A stand-in runs what its model's catalog entry lists, in any wire; toolsets of the caller's own are functions to it. */
function runsTool(tool: Tool, _request: CanonicalRequest, target: Target): boolean {
  return tool.by_caller === true || listsTool(tool, target);
}

function hostedLosses(request: CanonicalRequest, target: Target): Loss[] {
  return (request.tools ?? []).flatMap((tool, i) => {
    if (tool.kind !== 'server' || tool.member !== undefined || runsTool(tool, request, target)) return [];
    const message = `Tool '${tool.name}' is not offered here.`;
    return [serverToolLoss(request, tool, { code: 'server_tool', param: toolPath(tool, i), message })];
  });
}

/** Parts of the caller's that no wire has: a stand-in that passed over them would answer another question. */
function unknownLosses({ messages }: CanonicalRequest): Loss[] {
  return messages.flatMap(({ role, content }, i) =>
    content.flatMap((part, j): Loss[] => {
      if (role === 'assistant' || part.type !== 'server_tool') return [];
      const message = `A part of type '${part.name}' is not known here.`;
      return [
        { class: 'content', code: 'server_tool_unsupported', param: `messages[${i}].content[${j}]`, message },
      ];
    }),
  );
}

/** Writes JSON, reads canonical events as lines of JSON. */
export const sandboxAdapter: Adapter = {
  family: 'sandbox',
  runs: runsTool,
  coverage: null,
  wire: {
    in_process: true,
    needs_cap: false,
    signed_format: null,
    writes_cache_unasked: true,
    provider_name: null,
  },
  searchTool: null,
  // Vectors of another length than requested would be a wrong answer, even from a sandbox; and the sandbox answers
  // messages.
  losses: (request, target) =>
    request.task?.kind === 'embed'
      ? dimensionLosses(request.task, target)
      : [...completionLosses(request), ...hostedLosses(request, target), ...unknownLosses(request)],
  encode: (request, target, options) => ({
    path: '/generate',
    headers: [],
    body: Buffer.from(
      bodyText(request, {
        model: target.upstream_model,
        max_tokens: options.max_tokens ?? target.capabilities.max_output,
        // A stand-in for a real provider must not take that provider's extras for its own.
        options: {
          ...(target.provider === 'sandbox' ? options.extra : {}),
          ...request.svc.provider_options['sandbox'],
        },
        stream: options.stream,
      }),
    ),
  }),
  decode,
  decoder: () => new LineDecoder(),
  classify,
  promptTokens,
  counting: null,
  inlines: () => false,
};

/** @throws ProtocolFault when `body` is not an answer. */
function decode(body: Buffer): CanonicalAnswer {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString());
  } catch {
    throw new ProtocolFault('The sandbox answer is not JSON.');
  }
  if (!isObject(answer) || !Array.isArray(answer['candidates']) || !('usage' in answer)) {
    throw new ProtocolFault('The sandbox answer has no candidates.');
  }
  return answer as unknown as CanonicalAnswer;
}

const LINE_FEED = 0x0a;

class LineDecoder implements StreamDecoder {
  private rest: Buffer | null = null;
  private broken = false;
  private open: { candidate: number; part: number } | null = null;

  push(bytes: Buffer): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.broken) return events;
    guarded(
      () => this.lines(bytes, events),
      (fault) => {
        this.broken = true;
        events.push({ type: 'error', fault });
      },
    );
    return events;
  }

  private lines(bytes: Buffer, events: CanonicalEvent[]): void {
    const all = this.rest === null ? bytes : Buffer.concat([this.rest, bytes]);
    let from = 0;
    for (let to = all.indexOf(LINE_FEED); to >= 0; to = all.indexOf(LINE_FEED, from)) {
      const event = eventOf(all.toString('utf8', from, to));
      from = to + 1;
      this.follow(event);
      events.push(event);
      if (this.broken) break;
    }
    this.rest = from < all.length ? all.subarray(from) : null;
  }

  end(): CanonicalEvent[] {
    if (this.open === null) return [];
    const { candidate, part } = this.open;
    this.open = null;
    return [{ type: 'part_stop', candidate, part }];
  }

  private follow(event: CanonicalEvent): void {
    if (event.type === 'part_start') this.open = { candidate: event.candidate, part: event.part };
    else if (event.type === 'part_stop') this.open = null;
    else if (event.type === 'error') this.broken = true;
  }
}

/** @throws ProtocolFault when `line` is no event. */
function eventOf(line: string): CanonicalEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    // Reported below, like any other line that is not an event.
  }
  if (!isObject(event) || typeof event['type'] !== 'string') {
    throw new ProtocolFault('The sandbox sent a line that is not an event.');
  }
  return event as unknown as CanonicalEvent;
}
