// The back button: browsers restore a page with its state, without loading it again.
import { useEffect, useRef } from 'react';

/** Calls `back` when the page is shown again as it was left, as by the back button of a page that it led to. */
export function useRestored(back: () => void): void {
  const latest = useRef(back);
  latest.current = back;
  useEffect(() => {
    const onShow = ({ persisted }: PageTransitionEvent) => {
      if (persisted) latest.current();
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
}
