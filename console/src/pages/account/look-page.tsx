// Where a member of staff arrives who looks at an organisation as its people see it.
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Fault } from '../../api/errors.ts';
import { openLook, sessionState } from '../../api/session.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { FormFault } from '../../ui/states.tsx';
import { OutsideCard } from './frame.tsx';

export function LookPage() {
  const [token] = useState(takeToken);
  const [fault, setFault] = useState<Fault | null>(null);
  const navigate = useNavigate();
  useEffect(() => {
    void openLook(token).then((refused) => {
      const state = sessionState();
      const org = state.kind === 'signed_in' ? state.session.orgs[0] : undefined;
      if (refused !== null || org === undefined) setFault(refused);
      else void navigate({ to: '/$org/$env/home', params: { org: org.slug, env: 'live' }, replace: true });
    });
  }, [token, navigate]);
  return (
    <OutsideCard title="Look as customer" note="read only, for half an hour">
      <div className="sign-in-form" role="status">
        {fault === null ? <p>Opening…</p> : <FormFault fault={fault} />}
        {fault !== null && (
          <Link className="btn wide" to="/sign-in">
            Sign in
          </Link>
        )}
      </div>
    </OutsideCard>
  );
}
