import { field } from '../../../../../sdk/index.ts'
import { UNAVAILABLE_MODES } from '../../../cdc/events/event-settings.ts'

const group = 'Events'

/** What events have for values that the server did not send. */
export const unsentValueKeys = {
  'skip.messages.without.change': field
    .boolean({
      doc: 'Whether updates that change no captured column are skipped. Requires REPLICA IDENTITY FULL.',
      group,
    })
    .default(false),
  'unavailable.value.placeholder': field
    .text({
      doc: 'Stands for a value that the server did not send, because it is large (TOAST) and did not change.',
      group,
      isVerbatim: true,
    })
    .default('__debezium_unavailable_value'),
  'unavailable.value.mode': field
    .oneOf(UNAVAILABLE_MODES, {
      doc:
        'What an event has for a value that the server did not send: the placeholder; reselect: the present value of the row, ' +
        'or the placeholder if the row, the table or the column does not exist any more; ' +
        'omit: no such field, so that a sink keeps the value that it has.',
      group,
    })
    .default('placeholder'),
}
