// Keys that work anywhere on a page, unless a field has the focus or a dialog is open.
import { useEffect, useRef } from 'react';

const CHORD_MS = 1_200;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
  );
}

/** A name is a key as pressed (`/`, `.`, ` `, `Shift+E`), one with Control or Command (`Mod+k`), or two in a row (`g h`). */
export function useShortcuts(table: Readonly<Record<string, () => void>>): void {
  const latest = useRef(table);
  latest.current = table;
  useEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      if (event.altKey || event.defaultPrevented) return;
      // With Control or Command a key is no letter that is typed, so it works inside fields too; not over a dialog.
      if (event.ctrlKey || event.metaKey) {
        const act = latest.current[`Mod+${event.key.toLowerCase()}`];
        if (act === undefined || document.querySelector('[role=dialog]') !== null) return;
        event.preventDefault();
        return act();
      }
      // What has the focus inside a shadow root is the first of the path; the target is the root's host.
      if (isTyping(event.composedPath()[0] ?? null)) return;
      // A space on a focused button presses the button, and is no shortcut then.
      if (event.key === ' ' && (event.target as HTMLElement).closest('button, a, [role=tab]') !== null)
        return;
      const key = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key;
      const chord = first !== null && event.timeStamp - first.at < CHORD_MS ? `${first.key} ${key}` : null;
      first = { key, at: event.timeStamp };
      const act = (chord === null ? undefined : latest.current[chord]) ?? latest.current[key];
      if (act === undefined) return;
      event.preventDefault();
      first = null;
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
