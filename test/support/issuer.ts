import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'

export type IssuerClient = {
  readonly id: string
  readonly roles?: readonly string[]
  readonly groups?: readonly string[]
  /** Sends its secret in the header, as Kafka's clients do, instead of the form. */
  readonly usesBasic?: boolean
}

export type Issuer = {
  readonly url: string
  /** Paths of all requests. */
  readonly asked: readonly string[]
  /** The current signing key. */
  readonly key: () => JWK
  /** Replaces the signing key and publishes only the new one. */
  rotate(): Promise<void>
  /** While true, all responses are errors with status 500. */
  fail(isFailing: boolean): void
  /** Returns an access token (client credentials grant) for this audience. */
  token(client: string, audience?: string): Promise<string>
  stop(): Promise<void>
}

export const AUDIENCE = 'https://weir.example'

/** Starts an OpenID Connect provider. `pretends`: an issuer URL that it reports instead of its own. */
export async function startIssuer(
  clients: readonly IssuerClient[],
  { secondsToLive = 300, pretends = '' } = {},
): Promise<Issuer> {
  const asked: string[] = []
  let [answer, isFailing]: [RequestListener, boolean] = [() => {}, false]
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (isFailing) response.writeHead(500).end()
    else answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = pretends === '' ? at : pretends
  let key: JWK = {}
  const rotate = async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: crypto.randomUUID() }
    answer = new Provider(url, configuration(clients, key, secondsToLive)).callback()
  }
  await rotate()
  return {
    url,
    asked,
    key: () => key,
    rotate,
    fail: (fails) => {
      isFailing = fails
    },
    token: async (client, audience = AUDIENCE) => {
      const form = { grant_type: 'client_credentials', client_id: client, client_secret: SECRET, resource: audience }
      const answered = await fetch(`${at}/token`, { method: 'POST', body: new URLSearchParams(form) })
      const { access_token: token, ...why } = (await answered.json()) as { access_token?: string }
      if (token === undefined) throw new Error(`no token: ${JSON.stringify(why)}`)
      return token
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const SECRET = 'a secret of a test client'

function configuration(clients: readonly IssuerClient[], key: JWK, secondsToLive: number): object {
  return {
    clients: clients.map(({ id, usesBasic = false }) => ({
      client_id: id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: usesBasic ? 'client_secret_basic' : 'client_secret_post',
    })),
    jwks: { keys: [key] },
    ttl: { ClientCredentials: secondsToLive },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          audience,
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_: unknown, { clientId }: { clientId: string }) => {
      const client = clients.find(({ id }) => id === clientId)
      return { realm_access: { roles: client?.roles ?? [] }, groups: client?.groups ?? [] }
    },
  }
}
