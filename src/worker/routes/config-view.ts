import type { FastifyRequest } from 'fastify'
import type { ConfigView } from '../configuration/masked-config.ts'

/** For whom literal secrets in configurations are masked: for users without write permission, or for everyone. */
export type Masking = 'readonly' | 'always'

/** How a request may view the configuration of a connector. */
export type ConfigViewOf = (request: Pick<FastifyRequest, 'rights'>) => (name: string) => ConfigView

export function configViewFor(masking: Masking): ConfigViewOf {
  return ({ rights }) =>
    (name) =>
      masking === 'always' || !rights.allows('write', name) ? 'masked' : 'plain'
}
