// Copying: ids, secrets and snippets.
import { type Ref, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

const SHOWN_MS = 1_600;

/** Copies text and is `copied` for a moment afterwards; `failed` where the browser refuses the clipboard. */
export function useCopy(): { state: 'idle' | 'copied' | 'failed'; copy(text: string): Promise<boolean> } {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (text: string) => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      done = false;
    }
    setState(done ? 'copied' : 'failed');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('idle'), SHOWN_MS);
    return done;
  };
  return { state, copy };
}

/** An id in full, or its first four and last six characters, with its copy button. */
export function IdText({ id, short = false }: { id: string; short?: boolean }) {
  const { state, copy } = useCopy();
  return (
    <span className="id" title={id}>
      <span>{short ? `${id.slice(0, 4)}…${id.slice(-6)}` : id}</span>
      <button type="button" className="copy" aria-label={`Copy ${id}`} onClick={() => void copy(id)}>
        <Icon name={state === 'copied' ? 'check' : 'copy'} size={13} />
      </button>
      <span className="visually-hidden" aria-live="polite">
        {state === 'copied' ? 'Copied' : ''}
      </span>
    </span>
  );
}

const words = { idle: 'Copy', copied: 'Copied', failed: 'Select and copy by hand' } as const;

/** A button with words; `what` completes its name for screen readers ("Copy the key"). */
export function CopyButton(props: {
  text: string;
  what: string;
  /** Shown instead of "Copy"; says by itself what is copied. */
  label?: string;
  primary?: boolean;
  onCopied?: () => void;
  ref?: Ref<HTMLButtonElement>;
}) {
  const { state, copy } = useCopy();
  const press = async () => {
    if (await copy(props.text)) props.onCopied?.();
  };
  return (
    <Button
      {...(props.ref === undefined ? {} : { ref: props.ref })}
      kind={props.primary ? 'primary' : 'default'}
      icon={state === 'copied' ? 'check' : 'copy'}
      aria-label={state === 'idle' && props.label === undefined ? `Copy ${props.what}` : undefined}
      onClick={() => void press()}
    >
      {state === 'idle' && props.label !== undefined ? props.label : words[state]}
    </Button>
  );
}
