import '../../pages/sign-in/sign-in.css';
import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { readSignInSearch } from '../../app/search.ts';
import { SignInForm } from '../../pages/sign-in/form.tsx';
import { useGo } from '../go.tsx';
import { CODE_HINT } from '../session-ended.tsx';

export function StaffSignInPage() {
  const { next } = readSignInSearch(useSearch({ strict: false }));
  const go = useGo();
  useEffect(() => {
    document.title = 'Staff · Sign in';
  }, []);
  return (
    <main className="outside">
      <div className="sign-in">
        <span className="sign-in-mark" aria-hidden="true">
          <img src="/favicon.svg" width="40" height="40" alt="" />
        </span>
        <h1>Staff sign-in</h1>
        <p>with password and code; an account is made with svcctl staff create</p>
        <div className="card">
          <SignInForm code_hint={CODE_HINT} onDone={() => go(next ?? '/')} />
        </div>
      </div>
    </main>
  );
}
