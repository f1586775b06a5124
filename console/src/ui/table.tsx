// The scrolling frame of a table. The page never scrolls sideways; a wide table does, by keyboard too.
import type { ReactNode } from 'react';

interface Frame {
  readonly name: string;
  readonly busy?: boolean;
  /** On a narrow screen each row becomes a card; cells say by `data-label` which column they are of. */
  readonly stacks?: boolean;
  readonly children: ReactNode;
}

export function Table({ name, busy, stacks = false, children }: Frame) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="table-scroll" aria-label={name} tabIndex={0}>
      <table className={stacks ? 'table stacks' : 'table'} aria-busy={busy || undefined}>
        {children}
      </table>
    </section>
  );
}

/** A column by its name; numbers stand in `n`, and a `hidden` name is for screen readers alone. */
export type Column =
  | string
  | { readonly name: string; readonly className?: string; readonly hidden?: boolean };

/** The head of a table. */
export function Columns({ of }: { of: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {of.map((column) => {
          const { name, className, hidden } = typeof column === 'string' ? { name: column } : column;
          return (
            <th key={name} scope="col" className={className}>
              {hidden ? <span className="visually-hidden">{name}</span> : name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
