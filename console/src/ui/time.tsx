// Times on a page, all renewed by one timer.
import { useSyncExternalStore } from 'react';
import { agoText, feedText, instantOf, utcText } from './format/time.ts';

const TICK_MS = 15_000;
const listeners = new Set<() => void>();
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) now = new Date();
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = new Date();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The present, renewed four times a minute. */
export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now);
}

/** `feed`: 10:42:07. `ago`: 2 minutes ago. Hover shows UTC with milliseconds. Not yet set is a dash or `never`. */
export function Time(props: { at: string | null | undefined; as?: 'feed' | 'ago'; never?: string }) {
  const { at, as = 'ago', never = '–' } = props;
  const renewed = useNow();
  if (at === null || at === undefined) return <span className="faint">{never}</span>;
  const instant = instantOf(at);
  // What happened since the last renewal is not to come.
  const present = instant > renewed ? new Date() : renewed;
  return (
    <time
      className={as === 'feed' ? 'num' : undefined}
      dateTime={instant.toISOString()}
      title={utcText(instant)}
    >
      {as === 'feed' ? feedText(instant, present) : agoText(instant, present)}
    </time>
  );
}
