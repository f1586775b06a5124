import './sign-in.css';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { readSignInSearch } from '../../app/search.ts';
import { SignInForm } from './form.tsx';

export function SignInPage() {
  const { next } = readSignInSearch(useSearch({ from: '/sign-in' }));
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    document.title = 'Sign in';
    delete document.documentElement.dataset['env'];
  }, []);
  const onDone = () => {
    if (next === undefined) void navigate({ to: '/' });
    else router.history.push(next);
  };
  return (
    <main className="outside">
      <div className="sign-in">
        <span className="sign-in-mark" aria-hidden="true">
          <img src="/favicon.svg" width="40" height="40" alt="" />
        </span>
        <h1>Sign in</h1>
        <p>to see balance, calls and keys of your organisation</p>
        <div className="card">
          <SignInForm onDone={onDone} />
        </div>
      </div>
    </main>
  );
}
