import type { FastifyInstance } from 'fastify'

/** Which web pages may call a server, from a browser (CORS). Every text is a comma-separated list. */
export type CrossOrigin = {
  /** `*` or origins. */
  readonly origins: string
  readonly methods: string
  /** Empty: whatever is asked for. */
  readonly headers: string
}

/** Answers the question a browser asks before a request, and says in each answer whether its page may read it. */
export function allowPages(app: FastifyInstance, { origins, methods, headers }: CrossOrigin): void {
  const allowed = new Set(origins.split(',').map((origin) => origin.trim()))
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || !(allowed.has('*') || allowed.has(origin))) return done()
    void reply.header('access-control-allow-origin', allowed.has('*') ? '*' : origin).header('vary', 'Origin')
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return done()
    const asked = request.headers['access-control-request-headers'] ?? ''
    void reply
      .code(204)
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', headers === '' ? asked : headers)
      .send()
  })
}
