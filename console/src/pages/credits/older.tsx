// A list that is read a page at a time: its first page with the query of its card, further ones by a press.
import { useState } from 'react';
import type { CombinedError } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorBox } from '../../ui/states.tsx';

interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null };
}

/** What asking for a page gives. */
interface Read<Row> {
  readonly page: Page<Row> | null | undefined;
  readonly error: CombinedError | undefined;
}

function nextOf({ pageInfo }: Page<unknown>): string | null {
  return pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
}

/** All rows that were read. Reading the first page anew forgets the others, because their places have moved. */
export function useOlder<Row>(
  first: Page<Row> | null | undefined,
  read: (after: string) => Promise<Read<Row>>,
) {
  const [older, setOlder] = useState<{ of: Page<Row>; rows: readonly Row[]; next: string | null } | null>(
    null,
  );
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const mine = older !== null && older.of === first ? older : null;
  const first_next = first ? nextOf(first) : null;
  const next = mine === null ? first_next : mine.next;
  const load = async () => {
    if (next === null || !first || busy) return;
    setBusy(true);
    const { page, error } = await read(next);
    setBusy(false);
    setFault(error ? faultOfQuery(error) : null);
    if (page) setOlder({ of: first, rows: [...(mine?.rows ?? []), ...page.nodes], next: nextOf(page) });
  };
  return {
    rows: first ? [...first.nodes, ...(mine?.rows ?? [])] : undefined,
    has_more: next !== null,
    ...{ busy, fault, load },
  };
}

/** The foot of such a list: how much is shown, and the button that reads on. */
export function OlderFoot(props: {
  shown: number;
  what: string;
  /** Which of the rows stand first. */
  order?: 'newest' | 'oldest';
  has_more: boolean;
  busy: boolean;
  fault: Fault | null;
  load: () => Promise<void>;
}) {
  const { order = 'newest' } = props;
  if (!props.has_more && props.fault === null) return null;
  return (
    <div className="older-foot">
      {props.fault && <ErrorBox fault={props.fault} />}
      <span className="sub">
        The {order} {props.shown} {props.what} are shown.
      </span>
      <Button busy={props.busy} onClick={() => void props.load()}>
        {order === 'newest' ? 'Load older' : 'Load newer'}
      </Button>
    </div>
  );
}
