import { connect } from 'node:tls'
import { messageOf } from '../../common/errors.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const DAY_MS = 86_400_000
const WARNING_DAYS = 30
/** A slow program is not a problem. As long as a Kafka client waits for a response by default. */
export const RESPONSE_TIMEOUT_MS = 30_000

/** The verdict on a certificate that is valid until `endMs`. */
export function checkExpiry(check: string, endMs: number, nowMs: number): DoctorFinding {
  const days = Math.floor((endMs - nowMs) / DAY_MS)
  const end = new Date(endMs).toISOString().slice(0, 10)
  if (days >= WARNING_DAYS) return { check, verdict: 'ok', message: `is valid until ${end}` }
  const remedy = 'renew it: Weir reads a replaced file without a restart'
  return endMs <= nowMs
    ? { check, verdict: 'problem', message: `has expired on ${end}`, remedy }
    : { check, verdict: 'warning', message: `expires in ${days} days, on ${end}`, remedy }
}

/** The certificate of a server, whoever has issued it: requests check that. Undefined without TLS. */
export async function checkCertificate(
  program: string,
  url: string,
  nowMs: number,
): Promise<DoctorFinding | undefined> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:') return undefined
  const check = `certificate of the ${program}`
  try {
    return checkExpiry(check, await expiryOf(hostname.replace(/^\[|\]$/g, ''), Number(port || 443)), nowMs)
  } catch (error) {
    return {
      check,
      verdict: 'problem',
      message: `cannot be read: ${messageOf(error)}`,
      remedy: `check the TLS settings of ${url}`,
    }
  }
}

function expiryOf(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: RESPONSE_TIMEOUT_MS })
    socket.on('secureConnect', () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
    socket.on('timeout', () => socket.destroy(new Error(`no TLS handshake within ${RESPONSE_TIMEOUT_MS} ms`)))
    socket.on('error', reject)
  })
}
