// A card of matters that wait for a person: loading, nothing, a fault, or the list with what is behind it.
import type { ReactNode } from 'react';
import { faultOfQuery } from '../../api/errors.ts';
import { OlderFoot, type useOlder } from '../../pages/credits/older.tsx';
import { Card } from '../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';

type Older = Omit<ReturnType<typeof useOlder>, 'rows'>;

export function WaitingCard<Row>(props: {
  title: string;
  /** What the rows are called, in the plural. */
  what: string;
  /** Title and sentence where nothing waits. */
  empty: readonly [string, string];
  rows: readonly Row[] | undefined;
  older: Older;
  error: Parameters<typeof faultOfQuery>[0] | undefined;
  onRetry: () => void;
  /** At the right of the title. */
  more?: ReactNode;
  /** Which of the rows stand first. */
  order?: 'newest' | 'oldest';
  children: (rows: readonly Row[]) => ReactNode;
}) {
  const { title, what, empty, rows, older, error, onRetry, more, order = 'oldest', children } = props;
  return (
    <Card title={title} more={more} flush>
      {error && rows === undefined && <ErrorBox fault={faultOfQuery(error)} onRetry={onRetry} />}
      {!error && rows === undefined && (
        <div className="item">
          <Bone width={260} />
        </div>
      )}
      {rows?.length === 0 && <Empty title={empty[0]}>{empty[1]}</Empty>}
      {rows !== undefined && rows.length > 0 && (
        <>
          {children(rows)}
          <OlderFoot shown={rows.length} what={what} order={order} {...older} />
        </>
      )}
    </Card>
  );
}
