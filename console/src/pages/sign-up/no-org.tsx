// What a person in no organisation reads: make one, or what is missing for it.
import { lazy, Suspense, useState } from 'react';
import { Provider, useQuery } from 'urql';
import { signup } from '../../api/boot.ts';
import { createClient } from '../../api/client.ts';
import { faultOfQuery } from '../../api/errors.ts';
import { SignUpDocument } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';

const CreateOrgDialog = lazy(() => import('./create-org.tsx').then((m) => ({ default: m.CreateOrgDialog })));
const WaitlistDialog = lazy(() => import('./waitlist.tsx').then((m) => ({ default: m.WaitlistDialog })));

type Open = 'create' | 'waitlist' | null;

function Free({ email, onOpen }: { email: string; onOpen: (open: Open) => void }) {
  return (
    <Empty
      page
      title="You are in no organisation yet"
      actions={
        <Button kind="primary" onClick={() => onOpen('create')}>
          Make an organisation
        </Button>
      }
    >
      Make one, or ask an owner or admin of yours for an invitation to {email}.
    </Empty>
  );
}

/** Organisations are made by invitation, and this person has none. */
function Uninvited(props: { email: string; waits: boolean; onOpen: (open: Open) => void }) {
  const { email, waits, onOpen } = props;
  return (
    <Empty
      page
      title={waits ? 'You are on the waitlist' : 'Organisations are made by invitation'}
      actions={
        <>
          {signup === 'invite' && (
            <Button kind="primary" onClick={() => onOpen('create')}>
              I have an invite code
            </Button>
          )}
          {!waits && <Button onClick={() => onOpen('waitlist')}>Join the waitlist</Button>}
        </>
      }
    >
      {waits
        ? `A mail to ${email} says when you can make an organisation.`
        : `You can also ask an owner or admin of an organisation for an invitation to ${email}.`}
    </Empty>
  );
}

function Choice({ email }: { email: string }) {
  const [open, setOpen] = useState<Open>(null);
  const [{ data, error }, again] = useQuery({ query: SignUpDocument, pause: signup === 'open' });
  const reread = () => again({ requestPolicy: 'network-only' });
  const lacks = data?.signup?.needsInvite === true;
  if (error && !data?.signup) return <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />;
  if (signup !== 'open' && data === undefined) return <Bone width={260} />;
  const close = () => {
    setOpen(null);
    if (signup !== 'open') reread();
  };
  return (
    <>
      {lacks ? (
        <Uninvited email={email} waits={data?.signup?.waitlist?.status === 'WAITING'} onOpen={setOpen} />
      ) : (
        <Free email={email} onOpen={setOpen} />
      )}
      <Suspense>
        {open === 'create' && <CreateOrgDialog needsCode={lacks} onClose={close} />}
        {open === 'waitlist' && <WaitlistDialog onClose={close} />}
      </Suspense>
    </>
  );
}

export function NoOrg({ email }: { email: string }) {
  const [client] = useState(() => createClient(null));
  return (
    <Provider value={client}>
      <Choice email={email} />
    </Provider>
  );
}
