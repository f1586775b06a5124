// Asking again while something is on its way.
import { useEffect, useRef } from 'react';

const AGAIN_MS = 1_000;

/** Calls `ask` every `every_ms`, a second unless given, while `wanted`. */
export function useAgain(wanted: boolean, ask: () => void, every_ms = AGAIN_MS): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (!wanted) return;
    const timer = setInterval(() => latest.current(), every_ms);
    return () => clearInterval(timer);
  }, [wanted, every_ms]);
}
