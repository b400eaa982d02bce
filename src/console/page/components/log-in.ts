import { useState } from 'preact/hooks'
import { logIn, logInWithToken, type Realm } from '../api.ts'
import { html } from '../html.ts'
import { refreshAll } from '../queries.ts'
import { Modal } from './modal.ts'

const REASONS: Readonly<Record<Realm, string>> = {
  program: 'The program needs credentials of its REST API, or the former ones have expired.',
  kubernetes: 'The operator shows what you may read in Kubernetes, and needs a token of yours for that.',
  runtimes:
    'A worker or registry needs credentials of its REST API, or the former ones have expired. They are sent to all of them.',
}

/** Asks for a user and password, or a token, when a program responds with 401. */
export function LogIn({ realm, reason }: { readonly realm: Realm; readonly reason: string }) {
  const [user, setUser] = useState('')
  const [secret, setSecret] = useState('')
  const isToken = realm === 'kubernetes'
  const submit = (event: Event) => {
    event.preventDefault()
    if (isToken || user === '') logInWithToken(realm, secret)
    else logIn(realm, user, secret)
    void refreshAll()
  }
  return html`<${Modal} labelledBy="log-in" describedBy="log-in-reason">
    <form onSubmit=${submit}>
      <h2 id="log-in">${isToken ? 'Kubernetes token' : 'Log in'}</h2>
      <p id="log-in-reason">${REASONS[realm]}</p>
      ${isToken && html`<p role="status">${reason}</p>`}
      ${
        !isToken &&
        html`<label>User; empty for a token
          <input name="user" autocomplete="username" autofocus value=${user} onInput=${valueInto(setUser)} />
        </label>`
      }
      <label>${isToken ? 'Token' : 'Password or token'}
        <input name="password" type="password" required autofocus=${isToken} autocomplete="current-password" value=${secret}
          onInput=${valueInto(setSecret)} />
      </label>
      <button class="primary">Log in</button>
    </form>
  <//>`
}

/** Passes the value of an input on. */
export function valueInto(set: (value: string) => void): (event: Event) => void {
  return ({ currentTarget }) => set((currentTarget as HTMLInputElement).value)
}
