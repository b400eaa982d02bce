obj.spec.state = "Stopped"
return obj
