import { useState } from 'preact/hooks'
import { logIn, logInWithToken } from '../api.ts'
import { html } from '../html.ts'
import { refreshAll } from '../queries.ts'

/** Asks for a user and password, or a token, when the program responds with 401. */
export function LogIn() {
  const [user, setUser] = useState('')
  const [secret, setSecret] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (user === '') logInWithToken(secret)
    else logIn(user, secret)
    void refreshAll()
  }
  return html`<div class="overlay">
    <form class="dialog" role="dialog" aria-modal="true" aria-labelledby="log-in" onSubmit=${submit}>
      <h2 id="log-in">Log in</h2>
      <p>The program needs credentials of its REST API, or the former ones have expired.</p>
      <label>User; empty for a token
        <input name="user" autocomplete="username" autofocus value=${user} onInput=${valueInto(setUser)} />
      </label>
      <label>Password or token
        <input name="password" type="password" required autocomplete="current-password" value=${secret}
          onInput=${valueInto(setSecret)} />
      </label>
      <button class="primary">Log in</button>
    </form>
  </div>`
}

/** Passes the value of an input on. */
export function valueInto(set: (value: string) => void): (event: Event) => void {
  return ({ currentTarget }) => set((currentTarget as HTMLInputElement).value)
}
