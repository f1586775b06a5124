// A status is always three things: a colour, a shape and a word.
import type { ReactNode } from 'react';

export type Tone = 'ok' | 'bad' | 'warn' | 'mute';
export type Shape = Tone | 'half' | 'run';

const shapes: Record<Shape, ReactNode> = {
  ok: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  bad: <path d="M5 .6 9.4 5 5 9.4.6 5z" fill="currentColor" />,
  warn: <path d="M5 .8 9.6 9H.4z" fill="currentColor" />,
  mute: <circle cx="5" cy="5" r="3.4" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  half: (
    <>
      <circle cx="5" cy="5" r="3.6" fill="none" stroke="currentColor" strokeWidth="1.4" />
      <path d="M5 1.4a3.6 3.6 0 0 1 0 7.2z" fill="currentColor" />
    </>
  ),
  run: (
    <>
      <circle cx="5" cy="5" r="3.6" fill="none" stroke="currentColor" strokeWidth="1.4" />
      <circle cx="5" cy="5" r="1.6" fill="currentColor" />
    </>
  ),
};

/** `plain` is without the tinted ground; `word_hidden` keeps the word for screen readers only (dense tables). */
export function Status(props: {
  tone: Tone;
  shape?: Shape;
  plain?: boolean;
  word_hidden?: boolean;
  children: ReactNode;
}) {
  const { tone, shape = tone, plain = false, word_hidden = false, children } = props;
  return (
    <span className={`status ${tone}${plain ? ' plain' : ''}`}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        {shapes[shape]}
      </svg>
      {word_hidden ? <span className="visually-hidden">{children}</span> : children}
    </span>
  );
}
