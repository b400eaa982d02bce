import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { KubernetesAddress } from '../env/kubernetes.ts'

export type KubeResponse = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** The warnings that kubectl shows as `Warning: …`. */
  readonly warnings: readonly string[]
}
export type KubeApi = {
  /** `body` is sent as JSON; `contentType` overrides the media type. */
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<KubeResponse>
}

/** A minimal client of an API server with administrator rights, for what tests do themselves. */
export function kubeApi({ url, ca, token }: Pick<KubernetesAddress, 'url' | 'ca' | 'token'>): KubeApi {
  return {
    send: (method, path, body, contentType = 'application/json') =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': contentType, accept: 'application/json' }
        const sent = request(`${url}${path}`, { method, ca, headers, agent: false }, (response) => {
          const { statusCode: status = 0, headers } = response
          const warnings = warningsIn(headers.warning ?? '')
          text(response).then((answer) => resolve({ status, body: parse(answer), warnings }), reject)
        })
        sent.once('error', reject)
        sent.end(body === undefined ? undefined : JSON.stringify(body))
      }),
  }
}

/** The response for a path that is not served (yet) is plain text. */
function parse(answer: string): KubeResponse['body'] {
  try {
    return JSON.parse(answer)
  } catch {
    return { message: answer }
  }
}

/** Parses a `Warning` header such as `299 - "one", 299 - "other"`. */
function warningsIn(header: string): readonly string[] {
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
