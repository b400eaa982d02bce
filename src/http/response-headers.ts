import type { FastifyInstance } from 'fastify'
import { UserError } from '../common/errors.ts'

/** A rule of Jetty's HeaderFilter, as in `response.http.headers.config`. */
type HeaderRule = { readonly action: (typeof ACTIONS)[number]; readonly name: string; readonly value: string }

const ACTIONS = ['set', 'add', 'setDate', 'addDate'] as const
const RULE = /^(\w+)\s+([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*)$/s

/**
 * Parses `set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store"`: rules separated by commas; a rule that
 * contains a comma is quoted. The value of a date rule is an offset from now in ms. Throws a `UserError` for an invalid
 * rule.
 */
export function parseHeaderRules(text: string): readonly HeaderRule[] {
  const parts = text.match(/"[^"]*"|[^,"]+/g) ?? []
  const rules = parts.map((part) => part.replaceAll('"', '').trim()).filter((part) => part !== '')
  return rules.map((rule) => {
    const [, action, name = '', value = ''] = RULE.exec(rule) ?? []
    const known = ACTIONS.find((one) => one === action)
    if (known && (!known.endsWith('Date') || /^-?\d+$/.test(value))) return { action: known, name, value }
    throw new UserError(
      'invalid_settings',
      `the header rule '${rule}' is invalid: expected [${ACTIONS.join('|')}] NAME: VALUE, with quotes around a rule that contains a comma`,
    )
  })
}

/** Adds the headers of the rules to every response. */
export function addResponseHeaders(app: FastifyInstance, rules: readonly HeaderRule[], nowMs: () => number): void {
  app.addHook('onSend', (_, reply, _payload, done) => {
    for (const { action, name, value } of rules) {
      const written = action.endsWith('Date') ? new Date(nowMs() + Number(value)).toUTCString() : value
      if (action.startsWith('set')) reply.removeHeader(name)
      reply.header(name, action.startsWith('set') ? written : added(reply.getHeader(name), written))
    }
    done()
  })
}

function added(present: unknown, value: string): string | string[] {
  return present === undefined ? value : [present, value].flat().map(String)
}
