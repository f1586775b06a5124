// Asking again while something is on its way.
import { useEffect, useRef } from 'react';

const AGAIN_MS = 1_000;

/** Calls `ask` each second while `wanted`. */
export function useAgain(wanted: boolean, ask: () => void): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (!wanted) return;
    const timer = setInterval(() => latest.current(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [wanted]);
}
