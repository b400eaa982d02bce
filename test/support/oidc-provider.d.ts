// As far as the tests use it; the library has no types of its own.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  // biome-ignore lint/style/noDefaultExport: so is the library's.
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
