// One subscription of a page. It reconnects by itself, rests while the tab is hidden (browsers allow six connections
// to a host), and says when it is back, so that the page can read again what it missed.
import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useEffect, useRef, useState } from 'react';
import { useOrg } from '../app/org.tsx';
import { openStream } from './client.ts';
import { readEvents } from './live.ts';

const HIDDEN_MS = 30_000;
const BACKOFF_MS = [500, 1_000, 2_000, 5_000, 15_000] as const;

/** `off`: nothing to listen to; `resting`: the tab is hidden; `lost`: trying again. */
export type LiveState = 'off' | 'connecting' | 'open' | 'resting' | 'lost';

interface LiveOptions<D, V> {
  readonly document: TypedDocumentNode<D, V & AnyVariables>;
  /** Null listens to nothing. */
  readonly variables: V | null;
  readonly onData: (data: D) => void;
  /** Called when the stream is open again after a gap. */
  readonly onBack?: () => void;
  /** Whether `data` is the last event. Any other end of the stream is a gap, as when the server restarts. */
  readonly isLast?: (data: D) => boolean;
}

interface Running {
  stop(): void;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function run(
  connect: (signal: AbortSignal) => Promise<'ended' | 'gap'>,
  set: (state: LiveState) => void,
): Running {
  const whole = new AbortController();
  let current: AbortController | null = null;
  let hidden_timer: ReturnType<typeof setTimeout> | undefined;
  let wake: (() => void) | null = null;

  const loop = async () => {
    for (let failures = 0; !whole.signal.aborted; ) {
      if (document.hidden && failures > 0) {
        set('resting');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        failures = 0;
      }
      current = new AbortController();
      const started = performance.now();
      const result = await connect(AbortSignal.any([whole.signal, current.signal])).catch(
        () => 'gap' as const,
      );
      if (result === 'ended' || whole.signal.aborted) return;
      failures = performance.now() - started > 5_000 ? 1 : failures + 1;
      set('lost');
      const step = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1] as number;
      if (!document.hidden) await pause(step * (0.75 + Math.random() / 2), whole.signal);
    }
  };
  const onVisibility = () => {
    clearTimeout(hidden_timer);
    if (document.hidden) hidden_timer = setTimeout(() => current?.abort(), HIDDEN_MS);
    else wake?.();
  };
  document.addEventListener('visibilitychange', onVisibility);
  void loop();
  return {
    stop() {
      document.removeEventListener('visibilitychange', onVisibility);
      clearTimeout(hidden_timer);
      whole.abort();
      wake?.();
    },
  };
}

/** Listens while the component is mounted and `variables` is not null. */
export function useLive<D, V>(options: LiveOptions<D, V>): LiveState {
  const { id: org_id } = useOrg();
  const [state, setState] = useState<LiveState>(options.variables === null ? 'off' : 'connecting');
  const latest = useRef(options);
  latest.current = options;
  const key = options.variables === null ? null : JSON.stringify(options.variables);
  const { document: subscription } = options;

  useEffect(() => {
    if (key === null) {
      setState('off');
      return;
    }
    setState('connecting');
    let opened = false;
    const connect = async (signal: AbortSignal) => {
      const variables = JSON.parse(key) as V & AnyVariables;
      const response = await openStream({ org_id, document: subscription, variables, signal });
      if (!response.ok || !response.headers.get('content-type')?.includes('event-stream')) return 'gap';
      setState('open');
      if (opened) latest.current.onBack?.();
      opened = true;
      let over = false;
      await readEvents(response, (text) => {
        const { data } = JSON.parse(text) as { data?: D | null };
        if (!data) return;
        latest.current.onData(data);
        over = latest.current.isLast?.(data) ?? false;
      });
      return over ? 'ended' : 'gap';
    };
    const running = run(connect, setState);
    return () => running.stop();
  }, [key, org_id, subscription]);
  return state;
}
