// The queue: what a person must look at, over all organizations, oldest first.
import { useClient, useQuery } from 'urql';
import { StaffQueueDocument } from '../../../api/gen/staff/graphql.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { Items } from '../items.tsx';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;

export function QueuePage() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query: StaffQueueDocument, variables: { first: PAGE } });
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.staffItems, async (after) => {
    const { data: page, error } = await client.query(StaffQueueDocument, { first: PAGE, after }).toPromise();
    return { page: page?.staffItems, error };
  });
  return (
    <>
      <PageHead title="Queue">
        <p>What the service could not end by itself. The oldest stands first.</p>
      </PageHead>
      <WaitingCard
        {...{ title: 'Open items', what: 'items', rows, older, error, onRetry: reread }}
        empty={['Nothing waits', 'Payments and the comparison of each day agree.']}
      >
        {(rows) => <Items items={rows} linked onChanged={reread} />}
      </WaitingCard>
    </>
  );
}
