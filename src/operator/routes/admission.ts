import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../http/refusal.ts'
import { ADMISSION_PATH } from '../admission/configuration.ts'
import type { Decision } from '../admission/decide.ts'
import { type Deletion, type Proposed, parseQuestion, toAnswer } from '../admission/review.ts'

/** What the webhook decides. */
export type Decisions = {
  readonly store: (proposed: Proposed) => Promise<Decision>
  readonly delete: (deletion: Deletion) => Promise<Decision>
}

/** `POST /admission`: an AdmissionReview of the API server, answered in kind. */
export function admissionRoutes(decisions: Decisions) {
  return (app: FastifyInstance): void => {
    app.post(ADMISSION_PATH, async ({ body }) => {
      const question = parseQuestion(body)
      if (question === undefined) throw new Refusal(400, 'expected an AdmissionReview of admission.k8s.io/v1')
      const { uid, proposed, deletion } = question
      if (proposed !== undefined) return toAnswer(uid, await decisions.store(proposed))
      if (deletion !== undefined) return toAnswer(uid, await decisions.delete(deletion))
      return toAnswer(uid, { allowed: true, warnings: [] })
    })
  }
}
