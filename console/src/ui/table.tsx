// The scrolling frame of a table. The page never scrolls sideways; a wide table does, by keyboard too.
import type { ReactNode } from 'react';

export function Table({ name, busy, children }: { name: string; busy?: boolean; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="table-scroll" aria-label={name} tabIndex={0}>
      <table className="table" aria-busy={busy || undefined}>
        {children}
      </table>
    </section>
  );
}
