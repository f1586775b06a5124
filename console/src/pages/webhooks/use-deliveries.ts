// The log of an endpoint: what was read, page by page, and what has moved since.
import { useEffect, useMemo, useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  type DeliveryRowFragment,
  WebhookDeliveriesDocument,
  WebhookDeliveryDocument,
} from '../../api/gen/tools/graphql.ts';
import { useLive } from '../../api/use-live.ts';
import type { WebhookSearch } from '../../app/search.ts';
import { useOlder } from '../credits/older.tsx';
import { remember, withMoved } from './moved.ts';
import { deliveryStates } from './words.ts';

const PAGE = 50;

export function useDeliveries(id: string, search: WebhookSearch, serial: number) {
  const client = useClient();
  const status = deliveryStates.find((one) => one.toLowerCase() === search.state) ?? null;
  const event = search.event ?? null;
  const variables = { id, first: PAGE, status, event };
  const [{ data, error }, again] = useQuery({
    ...{ query: WebhookDeliveriesDocument, variables },
    requestPolicy: 'cache-and-network',
  });
  const older = useOlder(data?.webhookDeliveries, async (after) => {
    const { data: page, error } = await client
      .query(WebhookDeliveriesDocument, { ...variables, after })
      .toPromise();
    return { page: page?.webhookDeliveries, error };
  });
  const read = () => again({ requestPolicy: 'network-only' });
  const [moved, setMoved] = useState<ReadonlyMap<number, DeliveryRowFragment>>(new Map());
  const live = useLive({
    document: WebhookDeliveryDocument,
    variables: { id },
    onData: ({ webhookDelivery: row }) => setMoved((before) => remember(before, row)),
  });
  // What moved before the stream was open, at first and after a gap, is read.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number or an opened stream is what asks for reading
  useEffect(() => {
    if (serial > 0 || live === 'open') read();
  }, [serial, live === 'open']);
  const { rows: were, has_more } = older;
  const rows = useMemo(() => {
    const matches = (row: DeliveryRowFragment) =>
      (status === null || row.status === status) && (event === null || row.event === event);
    return were === undefined ? undefined : withMoved(were, moved, { matches, whole: !has_more });
  }, [were, moved, has_more, status, event]);
  return { ...older, rows, live, error, read };
}
