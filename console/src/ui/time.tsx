// Times on a page, all renewed by one timer.
import { useSyncExternalStore } from 'react';
import { agoText, documentDate, feedText, instantOf, utcText } from './format/time.ts';

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

/** The day of the present; what shows it is drawn again only when the day changes, as in a list of thousands. */
function useToday(): string {
  return useSyncExternalStore(subscribe, () => now.toDateString());
}

function Instant({ at, text, tabular }: { at: Date; text: string; tabular?: boolean }) {
  return (
    <time className={tabular ? 'num' : undefined} dateTime={at.toISOString()} title={utcText(at)}>
      {text}
    </time>
  );
}

function FeedTime({ at }: { at: Date }) {
  useToday();
  return <Instant at={at} text={feedText(at, new Date())} tabular />;
}

function AgoTime({ at }: { at: Date }) {
  const renewed = useNow();
  // What happened since the last renewal is not to come.
  return <Instant at={at} text={agoText(at, at > renewed ? new Date() : renewed)} />;
}

/** `feed`: 10:42:07. `ago`: 2 minutes ago. `document`: the date that a document bears. Hover shows UTC with milliseconds. Not yet set is a dash or `never`. */
export function Time(props: {
  at: string | null | undefined;
  as?: 'feed' | 'ago' | 'document';
  never?: string;
}) {
  const { at, as = 'ago', never = '–' } = props;
  if (at === null || at === undefined) return <span className="faint">{never}</span>;
  if (as === 'document') return <Instant at={instantOf(at)} text={documentDate(instantOf(at))} tabular />;
  return as === 'feed' ? <FeedTime at={instantOf(at)} /> : <AgoTime at={instantOf(at)} />;
}
